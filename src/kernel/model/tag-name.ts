/** What a tag may be called, wherever one is named. */
export const TAG_NAME = /^[a-z][a-z0-9_.-]{0,63}$/
