"""tests/stand-in/kubernetes/certificates.py - a certificate authority for one test

All keys and certificates are made by the openssl program when the server starts, and lie in the
server's directory: ca.crt, server.crt, server.key, admin.crt, admin.key.  They are good for two
days.  Others (a client's, one that has expired) can be asked for by order.
"""
import os
import subprocess

DAYS_VALID = 2


def _openssl(*arguments, text=None):
    done = subprocess.run(("openssl",) + arguments, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("openssl %s: %s" % (arguments[0], done.stderr.strip()))


def make_authority(directory):
    key, certificate = os.path.join(directory, "ca.key"), os.path.join(directory, "ca.crt")
    if not os.path.exists(certificate):
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-keyout", key, "-out", certificate, "-days", str(DAYS_VALID),
                 "-subj", "/CN=kubernetes", "-addext", "keyUsage=critical,keyCertSign,digitalSignature")


def make_certificate(directory, name, subject, names=(), days=DAYS_VALID):
    """Make <name>.key and <name>.crt.  With names it is a server's, without a client's."""
    key, request, certificate = (os.path.join(directory, name + end)
                                 for end in (".key", ".csr", ".crt"))
    _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", key, "-out", request, "-subj", subject)
    extensions = "extendedKeyUsage=%s\n" % ("serverAuth" if names else "clientAuth")
    if names:
        extensions += "subjectAltName=%s\n" % ",".join(names)
    _openssl("x509", "-req", "-in", request, "-CA", os.path.join(directory, "ca.crt"),
             "-CAkey", os.path.join(directory, "ca.key"), "-CAcreateserial", "-days", str(days),
             "-extfile", "/dev/stdin", "-out", certificate, text=extensions)
    os.unlink(request)
    return certificate, key
