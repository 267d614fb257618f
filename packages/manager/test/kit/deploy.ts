// Reads deploy/: Kubernetes objects and directives of systemd units.
import { globSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

export const root = new URL('../../../../', import.meta.url).pathname
const folder = `${root}deploy/kubernetes/`

type Probe = { httpGet?: { path: string; port: string } }
type Container = {
  name: string
  image: string
  command?: string[]
  env?: { name: string; value?: string }[]
  envFrom?: { configMapRef?: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  securityContext?: Record<string, unknown>
}
type Pod = {
  metadata: { labels: Record<string, string> }
  spec: {
    automountServiceAccountToken?: boolean
    serviceAccountName?: string
    terminationGracePeriodSeconds?: number
    securityContext?: Record<string, unknown>
    hostNetwork?: boolean
    containers: Container[]
    volumes?: { secret?: { secretName: string; defaultMode: number } }[]
  }
}
type LabelSelector = {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values: string[] }[]
}
type Port = { port: number; targetPort?: string; protocol?: string }
export type Manifest = {
  file: string
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  data?: Record<string, string>
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
  automountServiceAccountToken?: boolean
  spec?: {
    template?: Pod
    selector?: { matchLabels?: Record<string, string> }
    scaleTargetRef?: { kind: string; name: string }
    ports?: Port[]
    ingress?: { ports?: Port[] }[]
    podSelector?: LabelSelector
  }
  /** Only a kustomization has this field. */
  configMapGenerator?: { name: string; behavior?: string; literals: string[] }[]
}

export const manifestFiles = globSync('**/*.yaml', { cwd: folder }).toSorted()

/** Returns every object of the manifests and overlays, with its file. */
export const manifests = (): Manifest[] =>
  manifestFiles.flatMap((file) =>
    parseAllDocuments(readFileSync(folder + file, 'utf8')).map((document) => ({
      ...(document.toJS() as Manifest),
      file,
    })),
  )

/** Returns the ConfigMaps that kustomize generates. Additions by overlays are returned as separate ConfigMaps. */
export const generatedConfigMaps = (): Manifest[] =>
  manifests().flatMap(({ file, configMapGenerator }) =>
    (configMapGenerator ?? []).map(({ name, literals }) => ({
      file,
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: Object.fromEntries(
        literals.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      ),
    })),
  )

/** Returns the systemd units with all values of each directive. */
export const units = (): { file: string; values: Map<string, string[]> }[] =>
  globSync('deploy/systemd/*.service', { cwd: root })
    .toSorted()
    .map((file) => {
      const values = new Map<string, string[]>()
      for (const [, name = '', value = ''] of readFileSync(root + file, 'utf8').matchAll(
        /^([A-Z]\w+)=(.*)$/gm,
      ))
        values.set(name, [...(values.get(name) ?? []), value])
      return { file, values }
    })
