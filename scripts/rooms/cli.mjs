const command = ['session', 'doctor', 'args', 'process', 'text']

/** The rooms of src/cli, each with the rooms that it may import. */
export const cli = {
  rooms: {
    text: [],
    process: ['text'],
    args: ['process', 'text'],
    session: ['args', 'process', 'text'],
    doctor: ['text'],
    commands: [...command, 'commands/flows'],
    'commands/flows': command,
    'commands/keys': command,
    'commands/waits': command,
  },
  shared: {},
}
