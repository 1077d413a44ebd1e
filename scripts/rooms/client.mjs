/** The rooms of src/client, each with the rooms that it may import. */
export const client = { rooms: {}, shared: {} }
