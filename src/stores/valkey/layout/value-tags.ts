/**
 * The first byte of a stored value. It holds the kind of the value, and a small number, length or count itself.
 *
 * | tag  | value                                                             |
 * | ---- | ----------------------------------------------------------------- |
 * | 00   | a number from 0 to 127, the tag itself                            |
 * | 80   | a text of 0 to 31 bytes of UTF-8                                  |
 * | a0   | a list of 0 to 31 values                                          |
 * | c0   | absent                                                            |
 * | c1   | a number of 1 to 6 bytes, little-endian; the tag counts the bytes |
 * | c7   | a double, little-endian                                           |
 * | c8   | a text after its length in 1, 2 or 4 bytes                        |
 * | cb   | a list after its count in 1 or 2 bytes                            |
 * | cd   | the text of a uuid, as 16 bytes                                   |
 * | ce   | the id of an execution: its partition in a byte, 16 bytes of uuid |
 * | cf   | the id of a flow, in the same form                                |
 * | d0   | the text that is the id of the record itself                      |
 * | d1   | the part of that id in front of its first separator               |
 * | d2   | the part of that id behind its first separator                    |
 *
 * Every value can be skipped without its schema. A uuid is one in lower case.
 */
export const TEXT = 0x80
export const LIST = 0xa0
export const ABSENT = 0xc0
/** The tag of a number of n bytes is this tag plus n. */
export const NUMBER = 0xc0
export const NUMBER_6 = 0xc6
export const DOUBLE = 0xc7
export const TEXT_8 = 0xc8
export const TEXT_16 = 0xc9
export const TEXT_32 = 0xca
export const LIST_8 = 0xcb
export const LIST_16 = 0xcc
export const UUID = 0xcd
export const EXECUTION_ID = 0xce
export const FLOW_ID = 0xcf
export const OWN_ID = 0xd0
export const OWN_ID_START = 0xd1
export const OWN_ID_REST = 0xd2

/** The largest number that is its own tag. */
export const NUMBER_IN_TAG_MAX = 0x7f
/** The largest length of a text and count of a list that fit the tag. */
export const COUNT_IN_TAG_MAX = 0x1f
export const COUNT_8_MAX = 0xff
export const COUNT_16_MAX = 0xffff
export const NUMBER_6_MAX = 2 ** 48 - 1
