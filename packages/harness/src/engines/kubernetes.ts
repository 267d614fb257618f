// Runs a private Kubernetes control plane on loopback: etcd, kube-apiserver and the Deployment controllers,
// with its own certificate authority, tokens and folder. There is no kubelet, so pods stay pending. Roles,
// versions, scales and autoscalers are real.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Certificate, createCertificate } from '../certificates.ts'
import { ensureKubernetesTools } from './install.ts'
import { ensureKubernetes } from './kubernetes-build.ts'
import { freePort } from './postgres.ts'

export type Kubernetes = {
  /** The URL of the API server, `https://127.0.0.1:…`. */
  server: string
  /** The certificate authority that signs server and client certificates. */
  authority: Certificate
  /** The kubeconfig of an administrator. */
  kubeconfig: string
  folder: string
  /** Runs kubectl as administrator with `input` on stdin and returns its stdout. */
  kubectl(args: string[], input?: string): Promise<string>
  /** Kills the API server. The data in etcd is kept. */
  stopServer(): Promise<void>
  /** Restarts the API server on the same port. */
  startServer(): Promise<void>
  /** Freezes or resumes the API server. */
  signalServer(name: 'SIGSTOP' | 'SIGCONT'): void
  stop(): Promise<void>
}

/** Static tokens: `admin` has full access, `limited` has no access until a role is bound to the user `limited`. */
export const kubernetesTokens = { admin: 'admin-token', limited: 'limited-token' }

/** Starts the control plane and waits until it is ready, which takes about 10 s. */
export async function startKubernetes(): Promise<Kubernetes> {
  ensureKubernetesTools()
  const programs = ensureKubernetes()
  const folder = mkdtempSync(path.join(tmpdir(), 'manager-kubernetes-'))
  const ports = {
    api: await freePort(),
    etcd: await freePort(),
    peers: await freePort(),
    manager: await freePort(),
  }
  const server = `https://127.0.0.1:${ports.api}`
  const { authority, kubeconfig } = writeFiles(folder, server)
  const running = new Map<string, ChildProcess>()
  const start = (name: string, program: string, args: string[]): ChildProcess => {
    const out = openSync(path.join(folder, `${name}.log`), 'a')
    const child = spawn(program, args, { stdio: ['ignore', out, out], cwd: folder })
    closeSync(out)
    child.on('error', () => undefined)
    running.set(name, child)
    return child
  }
  const startServer = async (): Promise<void> => {
    const child = start('api', path.join(programs, 'kube-apiserver'), serverArguments(ports))
    await waitUntilReady(server, authority, child, folder)
  }
  const stop = async (): Promise<void> => {
    for (const name of ['manager', 'api', 'etcd']) await killProcess(running.get(name))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    start('etcd', 'etcd', etcdArguments(folder, ports))
    await startServer()
    start('manager', path.join(programs, 'kube-controller-manager'), managerArguments(ports))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    server,
    authority,
    kubeconfig,
    folder,
    kubectl: (args, input) => kubectl(['--kubeconfig', kubeconfig, ...args], input),
    stopServer: () => killProcess(running.get('api')),
    startServer,
    signalServer: (name) => void running.get('api')?.kill(name),
    stop,
  }
}

type Ports = { api: number; etcd: number; peers: number; manager: number }

function writeFiles(folder: string, server: string): { authority: Certificate; kubeconfig: string } {
  const authority = createCertificate('tests', [])
  const { cert, key } = createCertificate('kube-apiserver', ['127.0.0.1', 'localhost'], { issuer: authority })
  const { privateKey: accounts } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const tokens = [
    `${kubernetesTokens.admin},admin,1,"system:masters"`,
    `${kubernetesTokens.limited},limited,2`,
  ]
  const kubeconfig = path.join(folder, 'kubeconfig')
  const files = {
    'ca.crt': authority.cert,
    'server.crt': cert,
    'server.key': key,
    'accounts.key': accounts,
    'tokens.csv': `${tokens.join('\n')}\n`,
    kubeconfig: kubeconfigOf({
      server,
      cluster: { 'certificate-authority': 'ca.crt' },
      user: { token: kubernetesTokens.admin },
    }),
  }
  for (const [name, text] of Object.entries(files))
    writeFileSync(path.join(folder, name), text, { mode: 0o600 })
  return { authority, kubeconfig }
}

/** Returns a kubeconfig with one cluster and one user, as JSON, which is valid YAML. */
const kubeconfigOf = (options: { server: string; cluster: object; user: object }): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tests', cluster: { server: options.server, ...options.cluster } }],
    users: [{ name: 'tests', user: options.user }],
    contexts: [{ name: 'tests', context: { cluster: 'tests', user: 'tests' } }],
    'current-context': 'tests',
  })

function etcdArguments(folder: string, { etcd, peers }: Ports): string[] {
  const clients = `http://127.0.0.1:${etcd}`
  const peer = `http://127.0.0.1:${peers}`
  return [
    `--data-dir=${folder}/etcd`,
    // The data is temporary, so it does not need to reach the disk.
    '--unsafe-no-fsync',
    `--listen-client-urls=${clients}`,
    `--advertise-client-urls=${clients}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]
}

const serverArguments = ({ api, etcd }: Ports): string[] => [
  `--etcd-servers=http://127.0.0.1:${etcd}`,
  '--bind-address=127.0.0.1',
  '--advertise-address=127.0.0.1',
  `--secure-port=${api}`,
  '--insecure-port=0',
  '--tls-cert-file=server.crt',
  '--tls-private-key-file=server.key',
  '--client-ca-file=ca.crt',
  '--token-auth-file=tokens.csv',
  '--authorization-mode=RBAC',
  '--service-account-issuer=https://kubernetes.default.svc',
  '--service-account-signing-key-file=accounts.key',
  '--service-account-key-file=accounts.key',
  '--service-cluster-ip-range=10.0.0.0/24',
  // This plugin requires service accounts, which no controller here creates.
  '--disable-admission-plugins=ServiceAccount',
  // Allows autoscalers to have a minimum of 0 replicas.
  '--feature-gates=HPAScaleToZero=true',
]

const managerArguments = ({ manager }: Ports): string[] => [
  '--kubeconfig=kubeconfig',
  '--bind-address=127.0.0.1',
  '--port=0',
  `--secure-port=${manager}`,
  '--cert-dir=manager',
  '--leader-elect=false',
  '--controllers=deployment,replicaset,namespace,horizontalpodautoscaling,garbagecollector,job,disruption',
  '--feature-gates=HPAScaleToZero=true',
]

async function waitUntilReady(
  server: string,
  { cert: ca }: Certificate,
  child: ChildProcess,
  folder: string,
): Promise<void> {
  const status = (): Promise<number> =>
    new Promise((resolve) => {
      const headers = { authorization: `Bearer ${kubernetesTokens.admin}` }
      const asked = request(`${server}/readyz`, { ca, headers, timeout: 2_000, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      asked.on('error', () => resolve(0)).on('timeout', () => asked.destroy())
      asked.end()
    })
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    if ((await status()) === 200) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const tail = readFileSync(path.join(folder, 'api.log'), 'utf8').slice(-2_000)
  throw new Error(`the API server did not start: ${tail}`)
}

function kubectl(args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 16 * 1024 * 1024, encoding: 'utf8' as const }
    const child = execFile('kubectl', args, options, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`)),
    )
    child.stdin?.end(input)
  })
}

/** Kills the process. No data is kept, so a clean shutdown would only waste time. */
async function killProcess(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
