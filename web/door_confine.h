/* web/door_confine.h - what a door can still do once it reads what strangers send */
#ifndef WEB_DOOR_CONFINE_H
#define WEB_DOOR_CONFINE_H

/* From here on nothing can be opened, and nobody reached but by the two sockets; after ten seconds the process ends.
 * Other than 0: that could not be had. */
int door_confine(void);

#endif
