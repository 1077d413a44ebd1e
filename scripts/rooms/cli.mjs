/** The rooms of src/cli, each with the rooms that it may import. */
export const cli = { rooms: {}, shared: {} }
