/* client/acct_tree.h - an attempt of the accounts as `dlspool acct --json` prints it, dlspool-json(5) */
#ifndef CLIENT_ACCT_TREE_H
#define CLIENT_ACCT_TREE_H

#include "base/value.h"
#include "spool/usage.h"

/* The texts of the tree may be those of the usage. */
struct value *acct_tree(struct arena *arena, const struct usage *usage);

#endif
