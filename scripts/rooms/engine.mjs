/** The rooms of src/engine, each with the rooms that it may import. */
export const engine = { rooms: { runner: [], scanners: ['runner'] }, shared: {} }
