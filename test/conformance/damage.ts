/** What can happen to the bytes of a record on a disk or in a network: nothing that a store itself would write. */
export const damages = ['emptied', 'cut short', 'overwritten', 'turned over', 'hollow'] as const
export type Damage = (typeof damages)[number]

/** Puts the bytes back as they were. */
export type Heal = () => Promise<void>

/** `hollow` is the form of a record that can be read but has nothing in it except its id. */
export function damagedBytes(bytes: Uint8Array, damage: Damage, hollow: Uint8Array): Uint8Array {
  switch (damage) {
    case 'emptied':
      return new Uint8Array(0)
    case 'cut short':
      return bytes.slice(0, Math.floor(bytes.length / 2))
    case 'overwritten':
      return new TextEncoder().encode('nonsense')
    case 'turned over':
      return bytes.map((byte) => 255 - byte)
    case 'hollow':
      return hollow
  }
}
