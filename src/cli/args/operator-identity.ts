import { userInfo } from 'node:os'

/** Under this name the command line's doings stand in an execution's history. */
export const COMMAND_LINE = 'cli'

/** Who sits at the terminal, for what is said in a person's own name. */
export function loginName(): string {
  try {
    return userInfo().username
  } catch {
    // Not everybody whom the machine lets work has an account there.
    return COMMAND_LINE
  }
}
