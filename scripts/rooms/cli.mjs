const command = ['config', 'session', 'doctor', 'args', 'modules', 'process', 'text']

/** The rooms of src/cli, each with the rooms that it may import. */
export const cli = {
  rooms: {
    config: [],
    text: [],
    modules: [],
    process: ['config', 'text'],
    args: ['config', 'process', 'text'],
    session: ['config', 'args', 'process', 'text'],
    doctor: ['config', 'text'],
    commands: [...command, 'commands/flows', 'commands/lanes', 'commands/workers'],
    'commands/flows': command,
    'commands/consumers': command,
    'commands/codec-keys': command,
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
