/**
 * The rows of one operation as text for review. Cells that answer and write the same share a line; cells that change
 * something come first. Lossless: a cell that answers or writes differently changes at least one line.
 */
import type { Outcome } from './trials/table.ts'
import { answersText, effectText } from './golden-line.ts'

interface Cell {
  /** The first word of the situation's name. A trial may prepare another phase. */
  readonly phase: string
  readonly situation: string
  readonly text: string
  readonly isChange: boolean
}

interface Row {
  readonly manner: string
  readonly cells: readonly Cell[]
}

/** `rows` are the outcomes of the operation, in one list for each trial. */
export function goldenText(rows: readonly (readonly Outcome[])[]): string {
  const ownRows = rows.map(rowOf)
  const cells = ownRows.flatMap((row) => row.cells)
  const changeCount = cells.filter(({ isChange }) => isChange).length
  return [
    `${cells.length} cells: ${changeCount} with changes, ${cells.length - changeCount} without`,
    '',
    ...section('Changes:', ownRows, true),
    ...section('No changes:', ownRows, false),
  ].join('\n')
}

function rowOf(outcomes: readonly Outcome[]): Row {
  const cells = outcomes.map((outcome) => {
    const effect = effectText(outcome)
    const text = answersText(outcome) + (effect === undefined ? '' : ` → ${effect}`)
    const situation = outcome.situation.name
    return { phase: /^\w+/.exec(situation)?.[0] ?? '', situation, text, isChange: effect !== undefined }
  })
  return { manner: outcomes[0]?.trial.manner ?? '', cells }
}

/** A line for each text and set of situations, in the order of the trials. */
function section(title: string, rows: readonly Row[], isChange: boolean): readonly string[] {
  const mannersByLine = new Map<string, string[]>()
  for (const { manner, cells } of rows) {
    const texts = new Set(cells.filter((cell) => cell.isChange === isChange).map(({ text }) => text))
    for (const text of texts) {
      const isHere = (cell: Cell): boolean => cell.text === text
      const line = `${situationsText(cells, isHere)}: ${text}`
      const manners = mannersByLine.get(line) ?? []
      mannersByLine.set(line, manners)
      manners.push(manner)
    }
  }
  if (mannersByLine.size === 0) return []
  return [title, ...[...mannersByLine].map(([line, manners]) => `${mannersText(rows, manners)}${line}`), '']
}

function mannersText(rows: readonly Row[], manners: readonly string[]): string {
  if (rows.length === 1) return ''
  const names = manners.map((manner) => (manner === '' ? 'plain' : manner)).sort()
  return `${manners.length === rows.length ? 'every call' : names.join(' | ')} × `
}

/** Names the cells that `isHere` accepts, by their complement where that is shorter. */
function situationsText(cells: readonly Cell[], isHere: (cell: Cell) => boolean): string {
  const phases = [...new Set(cells.map(({ phase }) => phase))].sort()
  const byPhase = (part: readonly Cell[]): string =>
    phases
      .map((phase) => {
        const ofPhase = (all: readonly Cell[]): readonly Cell[] => all.filter((cell) => cell.phase === phase)
        return partText(ofPhase(cells), ofPhase(part), `every ${phase}`, namesText)
      })
      .filter((text) => text !== '')
      .join(' | ')
  return partText(cells, cells.filter(isHere), 'every situation', byPhase)
}

function partText(
  whole: readonly Cell[],
  part: readonly Cell[],
  wholeName: string,
  textOf: (part: readonly Cell[]) => string,
): string {
  if (part.length === whole.length && whole.length > 1) return wholeName
  const named = textOf(part)
  const excluding = `${wholeName} but (${textOf(whole.filter((cell) => !part.includes(cell)))})`
  return named.length <= excluding.length ? named : excluding
}

function namesText(cells: readonly Cell[]): string {
  return cells
    .map(({ situation }) => situation)
    .sort()
    .join(' | ')
}
