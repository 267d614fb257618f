// Address of the Kubernetes API server and the service account that authenticates this process. The files are read for
// every request, because clusters rotate tokens and certificates.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { OrchestratorFailure } from './orchestrator.ts'

/** Address of the API server and the current credentials. */
export type KubernetesAccess = { server: URL; tls: { ca: string }; token: string }
/** Configured location of the API server and of the credentials. */
export type KubernetesOptions = {
  /** URL of the API server as seen from this process. */
  server: string
  /** The folder with `token` and `ca.crt`. */
  serviceAccountFolder?: string | undefined
}

const defaultServiceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
const maxFileBytes = 1024 * 1024

/** Reads the credentials; throws OrchestratorFailure, whose message never contains file content. */
export function readAccess({
  server,
  serviceAccountFolder = defaultServiceAccountFolder,
}: KubernetesOptions): KubernetesAccess {
  const tokenFile = path.join(serviceAccountFolder, 'token')
  const token = readText(tokenFile).trim()
  // A header cannot contain other characters.
  if (!/^[\x21-\x7e]{1,16384}$/.test(token)) throw createFailure(tokenFile, 'does not contain a valid token')
  return {
    server: parseServerUrl(server),
    tls: { ca: readText(path.join(serviceAccountFolder, 'ca.crt')) },
    token,
  }
}

function parseServerUrl(value: string): URL {
  const url = URL.parse(value)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw createFailure('orchestrator.api_server', 'must be a URL of the form https://host:port')
  url.pathname = url.pathname.replace(/\/$/, '')
  return url
}

function readText(file: string): string {
  try {
    if (statSync(file).size > maxFileBytes) throw createFailure(file, `is larger than ${maxFileBytes} bytes`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof OrchestratorFailure) throw error
    throw createFailure(file, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
  }
}

const createFailure = (where: string, problem: string): OrchestratorFailure =>
  new OrchestratorFailure(`Kubernetes access: ${where} ${problem}`)
