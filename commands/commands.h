/* commands/commands.h - the verbs
 *
 * Each gets its words with arguments[0] the verb, and returns the exit status, one of STATUS_
 * of commands/options.h.
 */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

int command_init(int argument_count, char **arguments);
int command_run(int argument_count, char **arguments);
int command_submit(int argument_count, char **arguments);
int command_list(int argument_count, char **arguments);
int command_status(int argument_count, char **arguments);
int command_show(int argument_count, char **arguments);
int command_logs(int argument_count, char **arguments);
int command_wait(int argument_count, char **arguments);
int command_kill(int argument_count, char **arguments);
int command_retry(int argument_count, char **arguments);
int command_hold(int argument_count, char **arguments);
int command_release(int argument_count, char **arguments);
int command_top(int argument_count, char **arguments);
int command_priority(int argument_count, char **arguments);
int command_approve(int argument_count, char **arguments);
int command_refuse(int argument_count, char **arguments);
int command_pause(int argument_count, char **arguments);
int command_resume(int argument_count, char **arguments);
int command_resubmit(int argument_count, char **arguments);
int command_prune(int argument_count, char **arguments);
int command_render(int argument_count, char **arguments);
int command_convert(int argument_count, char **arguments);
int command_diff(int argument_count, char **arguments);
int command_plan(int argument_count, char **arguments);
int command_check(int argument_count, char **arguments);
int command_eval(int argument_count, char **arguments);
int command_acct(int argument_count, char **arguments);
int command_report(int argument_count, char **arguments);
int command_history(int argument_count, char **arguments);
int command_metrics(int argument_count, char **arguments);
int command_limits(int argument_count, char **arguments);
int command_nodes(int argument_count, char **arguments);
int command_share(int argument_count, char **arguments);
int command_simulate(int argument_count, char **arguments);
int command_token(int argument_count, char **arguments);
int command_web(int argument_count, char **arguments);
int command_version(int argument_count, char **arguments);

#endif
