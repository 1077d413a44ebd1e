/** The rooms of src/worker, each with the rooms that it may import. */
export const worker = { rooms: {}, shared: {} }
