import type { PublicState } from '../kernel/index.ts'
import type { Output, Style } from './output.ts'

const styles: Partial<Record<PublicState, Style>> = {
  active: 'cyan',
  completed: 'green',
  failed: 'red',
  expired: 'red',
  cancelled: 'yellow',
  delayed: 'yellow',
}

export function stateText(state: PublicState, output: Output): string {
  const style = styles[state]
  return style === undefined ? state : output.style(style, state)
}
