/** Under this name the command line's doings stand in an execution's history. */
export const COMMAND_LINE = 'cli'
