// Where the Kubernetes API server is, and how this process proves who it is: from the service account that a pod is given,
// or from a kubeconfig file. Everything is read anew at every use, because clusters rotate tokens and certificates.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { OrchestratorFailure } from './orchestrator.ts'

export type KubernetesAccess = {
  /** Where the API server is, without a slash at the end. */
  server: URL
  tls: { ca?: string; cert?: string; key?: string; servername?: string }
  token: string | null
}
export type KubernetesOptions = {
  /** Path of a kubeconfig file; null takes the service account of the pod. */
  kubeconfig: string | null
  /** The API server as pods reach it. */
  server: string
  serviceAccountFolder?: string
}

const podFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
const maxFileBytes = 1024 * 1024

/** Reads it; throws what is wrong, without any value that was read. */
export function readAccess(options: KubernetesOptions): KubernetesAccess {
  if (options.kubeconfig !== null) return readKubeconfig(options.kubeconfig)
  const folder = options.serviceAccountFolder ?? podFolder
  return {
    server: serverOf(options.server, 'orchestrator.api_server'),
    tls: { ca: readText(path.join(folder, 'ca.crt')) },
    token: tokenOf(readText(path.join(folder, 'token')), path.join(folder, 'token')),
  }
}

/** Where the API server is, without any credential; throws what is wrong. */
export function apiServerOf({ kubeconfig, server }: Pick<KubernetesOptions, 'kubeconfig' | 'server'>): URL {
  if (kubeconfig === null) return serverOf(server, 'orchestrator.api_server')
  const { cluster } = currentContext(kubeconfig)
  return serverOf(cluster['server'], `the cluster of ${kubeconfig}`)
}

type Fields = Record<string, unknown>

const impersonation = 'impersonation is not supported'

function currentContext(file: string): { root: Fields; context: Fields; cluster: Fields } {
  const root = parseYaml(file)
  const current = root['current-context']
  if (typeof current !== 'string') throw problem(file, 'names no current-context')
  const context = entryOf(file, root, 'context', current)
  return { root, context, cluster: entryOf(file, root, 'cluster', context['cluster']) }
}

function readKubeconfig(file: string): KubernetesAccess {
  const { root, context, cluster } = currentContext(file)
  const user = entryOf(file, root, 'user', context['user'])
  refuse(file, cluster, {
    'insecure-skip-tls-verify': 'give certificate-authority or certificate-authority-data instead',
    'proxy-url': 'proxies are not supported',
  })
  refuse(file, user, {
    exec: 'plugins that run a program are not supported; give a token, a tokenFile or a client certificate',
    'auth-provider': 'plugins are not supported; give a token, a tokenFile or a client certificate',
    username: 'passwords are not supported; give a token, a tokenFile or a client certificate',
    password: 'passwords are not supported; give a token, a tokenFile or a client certificate',
    as: impersonation,
    'as-groups': impersonation,
    'as-uid': impersonation,
    'as-user-extra': impersonation,
  })
  const ca = dataOf(file, cluster, 'certificate-authority')
  const cert = dataOf(file, user, 'client-certificate')
  const key = dataOf(file, user, 'client-key')
  if ((cert === undefined) !== (key === undefined))
    throw problem(file, 'has a client certificate without its key, or a key without its certificate')
  const token = kubeconfigToken(file, user)
  if (token === null && cert === undefined)
    throw problem(file, 'has neither a token nor a client certificate for its user')
  const servername = cluster['tls-server-name']
  return {
    server: serverOf(cluster['server'], `the cluster of ${file}`),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(typeof servername === 'string' ? { servername } : {}),
    },
    token,
  }
}

/** What would change the meaning of the rest is refused rather than passed over. */
function refuse(file: string, entry: Fields, refused: Record<string, string>): void {
  for (const [name, hint] of Object.entries(refused)) {
    const value = entry[name]
    if (value !== undefined && value !== null && value !== false && value !== '')
      throw problem(file, `has ${name}: ${hint}`)
  }
}

function kubeconfigToken(file: string, user: Fields): string | null {
  // In the order of kubectl: the file may be rotated, the text beside it may not.
  const { tokenFile, token } = user
  if (typeof tokenFile === 'string' && tokenFile !== '') {
    const where = path.resolve(path.dirname(file), tokenFile)
    return tokenOf(readText(where), where)
  }
  return typeof token === 'string' && token !== '' ? tokenOf(token, file) : null
}

/** A token becomes a header; anything a header cannot carry is no token. */
function tokenOf(text: string, where: string): string {
  const token = text.trim()
  if (!/^[\x21-\x7e]{1,16384}$/.test(token)) throw problem(where, 'holds no usable token')
  return token
}

function serverOf(value: unknown, where: string): URL {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw problem(where, 'must name the API server as https://host:port')
  url.pathname = url.pathname.replace(/\/$/, '')
  return url
}

/** A PEM text: inline as base64, or in a file beside the kubeconfig. */
function dataOf(file: string, entry: Fields, name: string): string | undefined {
  const data = entry[`${name}-data`]
  const where = entry[name]
  if (typeof data === 'string' && data !== '') {
    const text = Buffer.from(data, 'base64').toString('utf8')
    if (!text.includes('-----BEGIN ')) throw problem(file, `has no PEM text in ${name}-data`)
    return text
  }
  return typeof where === 'string' && where !== ''
    ? readText(path.resolve(path.dirname(file), where))
    : undefined
}

function entryOf(file: string, root: Fields, kind: 'context' | 'cluster' | 'user', name: unknown): Fields {
  const list: unknown = root[`${kind}s`]
  const found: unknown = Array.isArray(list)
    ? list.find((item: unknown) => fieldsOf(item)['name'] === name)
    : undefined
  if (found === undefined) throw problem(file, `lacks the ${kind} that it names`)
  return fieldsOf(fieldsOf(found)[kind])
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

function parseYaml(file: string): Fields {
  const text = readText(file)
  try {
    return fieldsOf(parse(text, { maxAliasCount: 0, logLevel: 'error', prettyErrors: false }))
  } catch {
    // The message of the parser quotes the line, which may hold a key; so would its warnings, which are off.
    throw problem(file, 'is no valid YAML')
  }
}

function readText(file: string): string {
  try {
    if (statSync(file).size > maxFileBytes) throw problem(file, `is larger than ${maxFileBytes} bytes`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof OrchestratorFailure) throw error
    throw problem(file, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
  }
}

const problem = (where: string, what: string): OrchestratorFailure =>
  new OrchestratorFailure(`access to Kubernetes: ${where} ${what}`)
