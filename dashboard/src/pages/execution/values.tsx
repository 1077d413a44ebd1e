import type { Execution } from '../../api/types.ts'
import { Value } from '../../parts/json.tsx'
import { Empty, Panel } from '../../parts/views.tsx'

export function Values({ execution }: { readonly execution: Execution }) {
  const { input, inputBytes, result, resultBytes, outcome, valuesWithheld } = execution
  if (valuesWithheld === true) return <Empty title="The server withholds values from viewers" />
  return (
    <>
      <Panel title="Input">
        <Value value={input} bytes={inputBytes} label="input" absent="It has no input." />
      </Panel>
      <Panel title="Result">
        <Value
          value={result}
          bytes={resultBytes}
          label="result"
          absent={outcome === undefined ? 'It has not ended.' : `It ended without a result: ${outcome}.`}
        />
      </Panel>
    </>
  )
}
