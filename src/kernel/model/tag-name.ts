/** The form of the name of a tag. */
export const TAG_NAME = /^[a-z][a-z0-9_.-]{0,63}$/
