/** What one member of a cluster knows of the whole. Members may differ for a while. */
import type { Server } from './server.ts'

export interface MemberView {
  readonly id: string
  readonly port: number
  readonly isPrimary: boolean
  /** The member that a replica copies; undefined for a primary. */
  readonly primaryId: string | undefined
  /** The member has been reached and is not taken for dead. */
  readonly isSound: boolean
  readonly slots: readonly SlotRange[]
}

interface SlotRange {
  readonly first: number
  readonly last: number
}

const UNSOUND_FLAGS = ['fail', 'fail?', 'handshake', 'noaddr']
const NO_PRIMARY = '-'

function parseSlots(text: string): SlotRange {
  const [first, last = first] = text.split('-').map(Number)
  if (first === undefined || last === undefined) throw new Error(`Not a range of slots: ${text}`)
  return { first, last }
}

/** A line reads: id, address:port@bus-port, flags, primary, ping, pong, epoch, link, ranges of slots, moves in brackets. */
function parseMember(line: string): MemberView {
  const [id = '', address = '', flagText = '', primary = NO_PRIMARY, , , , , ...owned] = line.split(' ')
  const flags = flagText.split(',')
  return {
    id,
    port: Number(/:(\d+)@/.exec(address)?.[1]),
    isPrimary: flags.includes('master'),
    primaryId: primary === NO_PRIMARY ? undefined : primary,
    isSound: !flags.some((flag) => UNSOUND_FLAGS.includes(flag)),
    slots: owned.filter((text) => !text.startsWith('[')).map(parseSlots),
  }
}

export async function viewFrom(node: Server): Promise<MemberView[]> {
  const text = String(await node.call('CLUSTER', 'NODES'))
  return text.trimEnd().split('\n').map(parseMember)
}

export function owns(member: MemberView, slot: number): boolean {
  return member.slots.some(({ first, last }) => first <= slot && slot <= last)
}

/** Who copies whom and who owns what, as a text that is equal for members that agree. */
export function layoutText(view: readonly MemberView[]): string {
  const line = ({ port, isPrimary, primaryId, slots }: MemberView): string => {
    const ranges = slots.map(({ first, last }) => `${first}-${last}`).join(' ')
    return `${port} ${isPrimary ? 'primary' : `replica of ${primaryId ?? 'none'}`} ${ranges}`
  }
  return view.map(line).sort().join('\n')
}
