const command = ['session', 'doctor', 'args', 'modules', 'process', 'text']

/** The rooms of src/cli, each with the rooms that it may import. */
export const cli = {
  rooms: {
    text: [],
    modules: [],
    process: ['text'],
    args: ['process', 'text'],
    session: ['args', 'process', 'text'],
    doctor: ['text'],
    commands: [...command, 'commands/flows'],
    'commands/flows': command,
    'commands/consumers': command,
    'commands/keys': command,
    'commands/lanes': command,
    'commands/limits': command,
    'commands/tokens': command,
    'commands/schedules': command,
    'commands/budgets': command,
    'commands/webhooks': command,
    'commands/waits': command,
    'commands/workers': command,
  },
  shared: {},
}
