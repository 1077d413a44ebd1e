import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { settingNames, settings } from '../src/cli/config/settings.ts'
import { routesPage } from './docs/routes-page.ts'
import { root } from './run.ts'

const variables = settingNames.map((name) => settings[name].variable)
/** The longest that a process takes to stop. */
const STOP_SECONDS = 30

function read(file: string): Promise<string> {
  return readFile(path.join(root, 'ops', file), 'utf8')
}

async function expectKnownVariables(file: string): Promise<void> {
  const used = [...new Set((await read(file)).match(/\bFLOWFABRIC_[A-Z_]+/g))]
  expect(used.length).toBeGreaterThan(0)
  expect(variables).toEqual(expect.arrayContaining(used))
}

function expectRoute(pathOfRoute: string): void {
  expect(routesPage()).toContain(`GET ${pathOfRoute}`)
}

const serviceSchema = z.looseObject({
  environment: z.record(z.string(), z.string()).optional(),
  secrets: z.array(z.string()),
  volumes: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).optional(),
  ports: z.array(z.string().startsWith('127.0.0.1:')).optional(),
  healthcheck: z
    .object({ test: z.array(z.string()) })
    .loose()
    .optional(),
  restart: z.literal('unless-stopped'),
  stop_grace_period: z.string().regex(/^\d+s$/),
})

const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.object({})),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})

describe.each(['compose/valkey.yaml', 'compose/postgres.yaml'])('%s', (file) => {
  test('refers to what it defines, and gives processes the time to stop', async () => {
    const { services, volumes, secrets } = composeSchema.parse(parse(await read(file)))

    for (const service of Object.values(services)) {
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(service.secrets))
      for (const volume of service.volumes ?? []) expect(Object.keys(volumes)).toContain(volume.split(':')[0])
      for (const other of Object.keys(service.depends_on ?? {})) expect(services[other]?.healthcheck).toBeDefined()
      for (const value of Object.values(service.environment ?? {})) {
        const secret = /^\/run\/secrets\/(.*)$/.exec(value)?.[1]
        if (secret !== undefined) expect(service.secrets).toContain(secret)
      }
      expect(parseInt(service.stop_grace_period)).toBeGreaterThan(STOP_SECONDS)
    }
    await expectKnownVariables(file)
  })
})

test('the manifests for Kubernetes fit together, and the server has probes and no rights', async () => {
  const [deployment, service, budget] = parseAllDocuments(await read('kubernetes/flowfabric.yaml')).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as Record<string, unknown>
  })

  const probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) })
  const { spec } = z
    .looseObject({
      kind: z.literal('Deployment'),
      spec: z.looseObject({
        replicas: z.number().min(2),
        selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
        template: z.object({
          metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
          spec: z.looseObject({
            terminationGracePeriodSeconds: z.number().gt(STOP_SECONDS),
            securityContext: z.looseObject({ runAsNonRoot: z.literal(true) }),
            containers: z.tuple([
              z.looseObject({
                ports: z.tuple([z.object({ name: z.literal('http'), containerPort: z.literal(9090) })]),
                livenessProbe: probe,
                readinessProbe: probe,
                securityContext: z.looseObject({
                  allowPrivilegeEscalation: z.literal(false),
                  readOnlyRootFilesystem: z.literal(true),
                }),
                volumeMounts: z.array(z.looseObject({ name: z.string() })),
              }),
            ]),
            volumes: z.array(z.looseObject({ name: z.string() })),
          }),
        }),
      }),
    })
    .parse(deployment)
  const labels = spec.template.metadata.labels
  const [container] = spec.template.spec.containers
  expect(labels).toEqual(spec.selector.matchLabels)
  expect(service).toMatchObject({ kind: 'Service', spec: { selector: labels, ports: [{ targetPort: 'http' }] } })
  expect(budget).toMatchObject({ kind: 'PodDisruptionBudget', spec: { selector: { matchLabels: labels } } })
  expect(spec.template.spec.volumes.map(({ name }) => name)).toEqual(container.volumeMounts.map(({ name }) => name))
  expectRoute(container.livenessProbe.httpGet.path)
  expectRoute(container.readinessProbe.httpGet.path)
  await expectKnownVariables('kubernetes/flowfabric.yaml')
})

test('the image contains the command, runs as a user without rights and can check its health', async () => {
  const dockerfile = await read('Dockerfile')
  const lines = dockerfile.replaceAll('\\\n', ' ').split('\n')
  const instructions = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const [, health = ''] = /fetch\('http:\/\/127\.0\.0\.1:9090([^']*)'\)/.exec(dockerfile) ?? []

  for (const line of instructions) {
    expect(line).toMatch(/^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD) /)
  }
  expect(instructions.filter((line) => line.startsWith('FROM')).every((line) => line.includes('node:24-'))).toBe(true)
  expect(instructions).toContain('USER node')
  expectRoute(health)
  await expectKnownVariables('Dockerfile')
})

test('the build of the image gets every folder that the build of the package reads', async () => {
  const kept = (await read('Dockerfile.dockerignore')).split('\n').filter((line) => line.startsWith('!'))
  const { workspaces } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { workspaces: string[] }

  for (const folder of ['src', 'scripts', ...workspaces]) expect(kept).toContain(`!${folder}`)
  for (const file of ['package.json', 'package-lock.json', 'LICENSE', 'README.md']) expect(kept).toContain(`!${file}`)
})

test('the unit for systemd has sections and settings of the right form, and a store that it may write', async () => {
  const unit = await read('flowfabric.service')
  const lines = unit.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  for (const line of lines) expect(line).toMatch(/^(\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=\S.*)$/)
  const folder = /^WorkingDirectory=(.*)$/m.exec(unit)?.[1]
  expect(folder).toBe(`/var/lib/${/^StateDirectory=(.*)$/m.exec(unit)?.[1]}`)
  expect(unit).toContain(`Environment=FLOWFABRIC_STORE=sqlite:${folder}/`)
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(STOP_SECONDS)
  await expectKnownVariables('flowfabric.service')
})

test('the page about operations links every file of the folder ops', async () => {
  const page = await readFile(path.join(root, 'docs/operations.md'), 'utf8')

  for (const file of [
    'Dockerfile',
    'compose/valkey.yaml',
    'compose/postgres.yaml',
    'kubernetes/flowfabric.yaml',
    'flowfabric.service',
  ]) {
    expect(page).toContain(`(../ops/${file})`)
  }
})
