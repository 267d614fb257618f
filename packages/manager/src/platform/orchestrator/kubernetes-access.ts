// Where the Kubernetes API server is, and the service account by which this process proves who it is. The files are read at
// every use, because clusters rotate tokens and certificates.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { OrchestratorFailure } from './orchestrator.ts'

export type KubernetesAccess = { server: URL; tls: { ca: string }; token: string }
export type KubernetesOptions = {
  /** The API server as this process reaches it. */
  server: string
  /** The folder with `token` and `ca.crt`. */
  serviceAccountFolder?: string | undefined
}

const podFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
const maxFileBytes = 1024 * 1024

/** Reads the credentials; throws what is wrong, without any value that was read. */
export function readAccess({
  server,
  serviceAccountFolder = podFolder,
}: KubernetesOptions): KubernetesAccess {
  const tokenFile = path.join(serviceAccountFolder, 'token')
  const token = readText(tokenFile).trim()
  // A header cannot carry anything else.
  if (!/^[\x21-\x7e]{1,16384}$/.test(token)) throw problem(tokenFile, 'holds no usable token')
  return { server: serverOf(server), tls: { ca: readText(path.join(serviceAccountFolder, 'ca.crt')) }, token }
}

function serverOf(value: string): URL {
  const url = URL.parse(value)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw problem('orchestrator.api_server', 'must name the API server as https://host:port')
  url.pathname = url.pathname.replace(/\/$/, '')
  return url
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
