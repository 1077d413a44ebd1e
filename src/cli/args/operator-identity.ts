import { userInfo } from 'node:os'

/** The actor of the command line in the history of an execution. */
export const COMMAND_LINE = 'cli'

/** The login name, for actions in a person's own name. */
export function loginName(): string {
  try {
    return userInfo().username
  } catch {
    // A process may run under a user id without an account.
    return COMMAND_LINE
  }
}
