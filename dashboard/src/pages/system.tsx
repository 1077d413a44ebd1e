import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { useSession } from '../api/session.tsx'
import { Text } from '../parts/text.tsx'
import { Facts, Loaded, Page, Panel } from '../parts/views.tsx'

export function SystemPage() {
  const version = useQuery({ queryKey: ['version'], queryFn: ({ signal }) => call('getVersion', { signal }) })
  const session = useSession()
  return (
    <Page title="System">
      <Panel title="Server and store">
        <Loaded query={version}>
          {({ version: server, store }) => (
            <>
              <Facts
                facts={[
                  ['FlowFabric', server],
                  ['Store', <Text key="store">{`${store.kind} ${store.version}`}</Text>],
                  ['Level', store.level],
                  ['You', <Text key="you">{`${session.name}, ${session.role}`}</Text>],
                ]}
              />
              <p className="muted">
                Durability: <Text>{store.durability}</Text>.
              </p>
              {store.warnings.map((warning) => (
                <p key={warning} className="notice" data-kind="forbidden">
                  <Text>{warning}</Text>
                </p>
              ))}
            </>
          )}
        </Loaded>
      </Panel>
    </Page>
  )
}
