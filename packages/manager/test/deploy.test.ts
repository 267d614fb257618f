// Tests that deploy/ and compose.yaml match the settings, ports, probes and roles of the service, and grant no
// unnecessary privileges.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { expect, test } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { healthPortSchemas } from '../src/platform/http/health.schemas.ts'
import { settings } from '../src/settings.ts'
import { type Manifest, generatedConfigMaps, manifestFiles, manifests, root, units } from './kit/deploy.ts'

const objects = [...manifests(), ...generatedConfigMaps()]
const ofKind = (kind: string, folder = ''): Manifest[] =>
  objects.filter((object) => object.kind === kind && object.file.startsWith(folder))
/** Objects that run pods. Patches in overlays have no selector. */
const pods = [...ofKind('Deployment', 'base/'), ...ofKind('Job')]
const named = (list: Manifest[]): string[] => list.map(({ metadata }) => metadata.name).toSorted()
const roles = ['api', 'comms', 'gateway', 'jobs']

const secretFiles = Object.values(settings).filter(({ secret }) => secret)
const variables = new Set([
  'SVC_REGION',
  'SVC_CONFIG_FILE',
  ...Object.values(settings).map(({ env }) => env),
  ...secretFiles.map(({ env }) => `${env}_FILE`),
])

test('every role of the service is a Deployment, with a budget for disruptions; those with routes have a Service and are scaled', () => {
  const withRoutes = ['api', 'comms', 'gateway'].map((role) => `manager-${role}`)
  expect(settings['roles']?.default).toEqual(expect.arrayContaining(roles))
  expect(settings['roles']?.default).toHaveLength(roles.length)
  expect(named(ofKind('Deployment', 'base/'))).toEqual(roles.map((role) => `manager-${role}`))
  expect(named(ofKind('PodDisruptionBudget'))).toEqual(roles.map((role) => `manager-${role}`))
  expect(named(ofKind('Service'))).toEqual(withRoutes)
  expect(named(ofKind('HorizontalPodAutoscaler', 'base/'))).toEqual(withRoutes)
  for (const { metadata, spec } of ofKind('HorizontalPodAutoscaler', 'base/'))
    expect(spec?.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name })
  for (const { metadata, spec } of ofKind('Deployment', 'base/'))
    expect(spec?.template?.spec.containers[0]?.env).toContainEqual({
      name: 'SVC_ROLES',
      value: metadata.name.slice('manager-'.length),
    })
})

test('everything that selects pods selects those of its own name', () => {
  const selecting = [...ofKind('Deployment', 'base/'), ...ofKind('PodDisruptionBudget')]
  const services = ofKind('Service').map(({ metadata, spec }) => ({
    name: metadata.name,
    labels: spec?.selector as Record<string, string> | undefined,
  }))
  const selectors = selecting.map(({ metadata, spec }) => ({
    name: metadata.name,
    labels: spec?.selector?.matchLabels,
  }))
  for (const { name, labels } of [...services, ...selectors])
    expect(labels).toEqual(
      pods.find(({ metadata }) => metadata.name === name)?.spec?.template?.metadata.labels,
    )
})

test.each(pods.map((pod) => [pod.metadata.name, pod] as const))(
  'the pod of %s may do nothing that it need not',
  (_, pod) => {
    const { spec } = pod.spec?.template ?? { spec: undefined }
    expect(spec?.automountServiceAccountToken).toBe(false)
    expect(spec?.hostNetwork).toBeUndefined()
    expect(spec?.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(spec?.containers.map(({ name }) => name)).toEqual(['manager'])
    for (const { securityContext, resources, image } of spec?.containers ?? []) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        privileged: false,
        capabilities: { drop: ['ALL'] },
      })
      expect(Object.keys(resources?.requests ?? {})).toEqual(['cpu', 'memory'])
      expect(resources?.limits?.['memory']).toMatch(/^\d+[MG]i$/)
      // The base manifests name no registry, because each overlay sets its own.
      expect(image).toBe('manager')
    }
  },
)

test('only the role api is given a token, and only in overlays that wake deployments', () => {
  const withToken = objects.filter(
    ({ automountServiceAccountToken, spec }) =>
      automountServiceAccountToken === true || spec?.template?.spec.automountServiceAccountToken === true,
  )
  expect(withToken.map(({ file, metadata }) => [file, metadata.name])).toEqual([
    ['wake/api.yaml', 'manager-api'],
  ])
  expect(named(ofKind('ClusterRole'))).toEqual([])
  expect(ofKind('Role').map(({ rules }) => rules)).toEqual([
    [
      { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get', 'patch'] },
      {
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers'],
        verbs: ['get', 'list', 'patch'],
      },
    ],
  ])
})

test('ports are those that the service is told to listen on, and the image exposes', () => {
  const [config] = ofKind('ConfigMap', 'base/')
  const api = Number(config?.data?.['SVC_PORT'])
  const health = Number(config?.data?.['SVC_HEALTH_PORT'])
  expect([api, health]).toEqual([settings['port']?.default, settings['healthPort']?.default])
  expect(readFileSync(`${root}Dockerfile`, 'utf8')).toContain(`EXPOSE ${api} ${health}\n`)
  for (const { spec } of ofKind('Deployment', 'base/')) {
    const container = spec?.template?.spec.containers[0]
    expect(container?.ports).toEqual([
      { name: 'api', containerPort: api },
      { name: 'health', containerPort: health },
    ])
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe]
    expect(probes.map((probe) => probe?.httpGet)).toEqual(
      ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'health' })),
    )
  }
  expect(Object.keys(healthPortSchemas)).toEqual(expect.arrayContaining(['/healthz', '/readyz']))
  for (const { spec } of ofKind('Service'))
    expect(spec?.ports).toEqual([{ name: 'api', port: api, targetPort: 'api' }])
  const entered = ofKind('NetworkPolicy').flatMap(({ spec }) =>
    (spec?.ingress ?? []).flatMap(({ ports }) => ports ?? []),
  )
  expect(new Set(entered.map(({ port }) => port))).toEqual(new Set([api, health]))
})

test('every setting that is named exists, and secrets are given by files alone', () => {
  const files = [
    ...globSync('deploy/{kubernetes,systemd}/**/*.{yaml,service}', { cwd: root }),
    'compose.yaml',
  ]
  expect(files.length).toBeGreaterThan(15)
  for (const file of files) {
    const text = readFileSync(root + file, 'utf8')
    const unknown = [...text.matchAll(/\bSVC_[A-Z0-9_]+/g)]
      .map(([name]) => name)
      .filter((name) => !variables.has(name))
    expect([file, unknown]).toEqual([file, []])
  }
  const given = [
    ...objects.flatMap(({ data }) => Object.keys(data ?? {})),
    ...objects
      .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
      .flatMap(({ env }) => (env ?? []).map(({ name }) => name)),
    ...units()
      .flatMap(({ values }) => values.get('Environment') ?? [])
      .map((line) => line.split('=')[0] ?? ''),
    // Variables that Kustomize component patches set.
    ...files.flatMap((file) =>
      [...readFileSync(root + file, 'utf8').matchAll(/\bname: (SVC_\w+)/g)].map(([, name = '']) => name),
    ),
  ]
  expect(given).toEqual(
    expect.arrayContaining(['SVC_MASTER_KEY_FILE', 'SVC_ENCRYPTION_KEYS_FILE', 'SVC_PUBLIC_URL']),
  )
  expect(secretFiles.map(({ env }) => env).filter((env) => given.includes(env))).toEqual([])
})

test('a Job reaches no more than its own policy says', () => {
  const selecting = (component: string): string[] =>
    ofKind('NetworkPolicy')
      .filter(({ spec }) => {
        const { matchLabels = {}, matchExpressions = [] } = spec?.podSelector ?? {}
        const isNamed = (matchLabels['app.kubernetes.io/component'] ?? component) === component
        return isNamed && matchExpressions.every(({ values }) => values.includes(component))
      })
      .map(({ metadata }) => metadata.name)
      .toSorted()
  expect(selecting('migrate')).toEqual(['manager-migrate'])
  expect(selecting('exchange-master')).toEqual(['manager-migrate'])
  expect(selecting('api')).toEqual(['manager', 'manager-callers', 'manager-wake'])
  expect(selecting('jobs')).toEqual(['manager', 'manager-callees'])
})

/** Returns the configuration of a service process, with well-formed test values for secrets. */
function configOf(env: Record<string, string>) {
  const values: Record<string, string> = {
    SVC_DATABASE_URL: 'postgres://manager_app:password@db.example:5432/manager',
    SVC_REDIS_URL: 'redis://redis.example:6379',
    SVC_PROXY_SECRET: 'a-secret-that-is-long-enough-for-this',
    SVC_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  }
  const plain = Object.entries(env).map(([name, value]) => {
    const bare = name.replace(/_FILE$/, '')
    return [bare, bare === name ? value : (values[bare] ?? '')] as const
  })
  return loadConfig({ env: Object.fromEntries(plain) }, settings)
}

test('with what a pod is given the service has a valid configuration, and time to stop', () => {
  const configs: Record<string, Record<string, string>> = {}
  for (const { metadata, data } of ofKind('ConfigMap'))
    configs[metadata.name] = { ...configs[metadata.name], ...data }
  for (const { kind, spec, metadata } of pods) {
    const { spec: pod } = spec?.template ?? { spec: undefined }
    const [container] = pod?.containers ?? []
    const env = (container?.env ?? []).map(({ name, value = '' }) => [name, value] as const)
    const [source] = container?.envFrom ?? []
    const config = configOf({ ...configs[source?.configMapRef?.name ?? ''], ...Object.fromEntries(env) })
    expect([metadata.name, config.env]).toEqual([metadata.name, 'production'])
    // The Kubernetes default is 30 s. A Job has no requests to finish.
    const graceMs = (pod?.terminationGracePeriodSeconds ?? 30) * 1_000
    expect(graceMs).toBeGreaterThan(kind === 'Job' ? 0 : config.drainDelayMs + config.shutdownTimeoutMs)
  }
})

test('every manifest is part of a kustomization, and every part is there', () => {
  const parts = new Set<string>()
  for (const file of manifestFiles.filter((name) => name.endsWith('/kustomization.yaml'))) {
    const {
      resources = [],
      patches = [],
      components = [],
    } = parse(readFileSync(`${root}deploy/kubernetes/${file}`, 'utf8')) as {
      resources?: string[]
      patches?: { path?: string }[]
      components?: string[]
    }
    for (const part of [...resources, ...components, ...patches.flatMap((patch) => patch.path ?? [])])
      parts.add(path.join(path.dirname(file), part))
  }
  const files = [...parts].map((part) => (part.endsWith('.yaml') ? part : `${part}/kustomization.yaml`))
  for (const file of files) expect(manifestFiles).toContain(file)
  const alone = manifestFiles.filter((file) => !file.endsWith('/kustomization.yaml') && !parts.has(file))
  expect(alone).toEqual([])
})

test('commands name programs of this release', () => {
  const commands = [
    ...pods
      .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
      .flatMap(({ command }) => (command === undefined ? [] : [command.join(' ')])),
    ...units().flatMap(({ values }) => values.get('ExecStart') ?? []),
  ]
  expect(commands).toHaveLength(4)
  for (const command of commands) {
    const [, file = ''] =
      /^(?:\/usr\/bin\/)?node (\S+\.ts)(?: migrate up| keys exchange-master --new-key-file \S+)?$/.exec(
        command,
      ) ?? []
    expect([command, existsSync(root + file)]).toEqual([command, true])
  }
})

const hasKubectl = existsSync('/usr/bin/kubectl')

test.skipIf(!hasKubectl)('secrets of a rotation reach every process, and settings are versioned', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'manager-overlay-'))
  const at = (name: string): string => path.relative(folder, `${root}deploy/kubernetes/${name}`)
  const overlay = {
    resources: ['overlays/production', 'exchange-master'].map(at),
    components: ['secrets/proxy-secret-previous', 'secrets/encryption-keys'].map(at),
    configMapGenerator: [{ name: 'manager', behavior: 'merge', literals: ['SVC_LOG_LEVEL=debug'] }],
    namespace: 'manager',
  }
  writeFileSync(path.join(folder, 'kustomization.yaml'), stringify(overlay))
  const build = (of: string): Manifest[] => {
    const { stdout, stderr } = spawnSync('kubectl', ['kustomize', of], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
  }
  const [built, before] = [build(folder), build(`${root}deploy/kubernetes/overlays/production`)]
  rmSync(folder, { recursive: true })
  const containersOf = (kind: string) =>
    built
      .filter((object) => object.kind === kind)
      .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
  const namesOf = (kind: string): string[][] =>
    containersOf(kind).map(({ env }) => (env ?? []).map(({ name }) => name))
  expect(namesOf('Deployment')).toHaveLength(roles.length)
  for (const names of namesOf('Deployment'))
    expect(names).toEqual(
      expect.arrayContaining(['SVC_PROXY_SECRET_PREVIOUS_FILE', 'SVC_ENCRYPTION_KEYS_FILE']),
    )
  expect(namesOf('Job')).toEqual([expect.arrayContaining(['SVC_ENCRYPTION_KEYS_FILE'])])
  const configMap = (of: Manifest[]) => of.find(({ kind }) => kind === 'ConfigMap')
  expect(configMap(built)?.data).toEqual({ ...configMap(before)?.data, SVC_LOG_LEVEL: 'debug' })
  expect(configMap(built)?.metadata.name).not.toBe(configMap(before)?.metadata.name)
  const used = containersOf('Deployment').map(({ envFrom }) => envFrom?.[0]?.configMapRef?.name)
  expect(new Set(used)).toEqual(new Set([configMap(built)?.metadata.name]))
})

const sandbox = [
  'DynamicUser',
  'PrivateTmp',
  'PrivateDevices',
  'PrivateIPC',
  'ProtectHome',
  'NoNewPrivileges',
  'RestrictNamespaces',
  'ProtectKernelTunables',
  'ProtectKernelModules',
  'ProtectKernelLogs',
  'ProtectControlGroups',
  'ProtectClock',
  'ProtectHostname',
  'RestrictRealtime',
  'RestrictSUIDSGID',
  'LockPersonality',
  'RemoveIPC',
]

test.each(units())('$file leaves the machine as it is', ({ values }) => {
  expect(sandbox.filter((name) => values.get(name)?.join() !== 'yes')).toEqual([])
  expect(values.get('ProtectSystem')).toEqual(['strict'])
  expect(values.get('CapabilityBoundingSet')).toEqual([''])
  expect(values.get('SystemCallFilter')?.[0]).toBe('@system-service')
  // Without AF_NETLINK, `os.networkInterfaces()` fails, and therefore every outbound call fails.
  expect(values.get('RestrictAddressFamilies')).toEqual(['AF_INET AF_INET6 AF_UNIX AF_NETLINK'])
  expect(values.get('User')).toBeUndefined()
  expect(values.get('ReadWritePaths')).toBeUndefined()
})

test('compose.yaml runs the service as the manifests do', () => {
  const { services } = parse(readFileSync(`${root}compose.yaml`, 'utf8'), { merge: true }) as {
    services: Record<string, { environment: Record<string, string>; [name: string]: unknown }>
  }
  for (const name of ['migrate', 'manager']) {
    const service = services[name]
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(configOf(service?.environment ?? {}).env).toBe('compose')
  }
  expect(services['manager']?.['ports']).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:8081:8081'])
})

const hasSystemd = existsSync('/usr/bin/systemd-analyze')

test.skipIf(!hasSystemd)('systemd understands the units, and finds them hardly exposed', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'manager-units-'))
  const analyze = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { cwd: folder, encoding: 'utf8' })
    // systemd-analyze only warns about unknown directives.
    return `${stdout}${stderr}${status === 0 ? '' : `exit ${status}`}`
  }
  for (const { file } of units()) {
    const copy = path.join(folder, path.basename(file))
    // systemd-analyze checks that the program exists, and Node may be installed at a different path.
    writeFileSync(copy, readFileSync(root + file, 'utf8').replace('/usr/bin/node', process.execPath))
    expect(analyze('verify', '--man=no', copy)).toBe('')
    const [, exposure] =
      /exposure level for \S+: (\d+\.\d)/.exec(analyze('security', '--offline=true', copy)) ?? []
    // The level ranges from 0 to 10. The remaining exposure is network access, which the service needs.
    expect(Number(exposure)).toBeLessThan(2)
  }
  const broken = path.join(folder, 'broken.service')
  writeFileSync(broken, '[Service]\nExecStart=/bin/true\nProtectEverything=yes\n')
  expect(analyze('verify', '--man=no', broken)).toContain('ProtectEverything')
  rmSync(folder, { recursive: true })
})
