/* executors/environment.h - the environment of a program that is started */
#ifndef EXECUTORS_ENVIRONMENT_H
#define EXECUTORS_ENVIRONMENT_H

/* This process's environment, with these variables (name, value, name, value ..., NULL; or NULL) in place of its own
 * ones, and without others whose names begin with `without`, unless that is NULL.  For environment_free(). */
char **environment_make(const char *const *variables, const char *without);
void environment_free(char **environment);

#endif
