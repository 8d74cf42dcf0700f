#!/bin/sh
#DL name=hello
#DL library=any
#DL type=single
# A batch script: the comments above carry the fields of a job file, and the script is the program.
echo "hello from job $DLSPOOL_JOB_ID"
echo "this is task $DLSPOOL_INDEX of role $DLSPOOL_ROLE, on $(uname -s) $(uname -m)"
