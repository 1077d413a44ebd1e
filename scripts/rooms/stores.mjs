/** The rooms of src/stores, each with the rooms that it may import. */
export const stores = { rooms: {}, shared: {} }
