// Runs the reference proxy with sign-in (deploy/proxy/apache) on a real Apache, in its own folder. The shipped files
// are unchanged, except for the values that an operator sets.
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureApache } from './install.ts'
import { acceptsConnections } from './nginx.ts'
import { applyRendered } from './nginx-proxy.ts'
import type { OidcProvider } from './oidc-provider.ts'
import { freePort } from './postgres.ts'

const files = new URL('../../../../deploy/proxy/apache/', import.meta.url).pathname

export type ApacheProxy = Awaited<ReturnType<typeof createApache>>
type ApacheOptions = {
  managerUrl: string
  secret: string
  provider: Pick<OidcProvider, 'issuer' | 'clientId' | 'clientSecret'>
  /** Extra directives for site-oidc.conf, such as session lifetimes. */
  oidc?: string
}

/**
 * Starts the proxy in front of the service with a rendered configuration. Users sign in at the identity
 * provider.
 */
export async function startApache(options: ApacheOptions & { rendered: string }): Promise<ApacheProxy> {
  const proxy = await createApache(options)
  await proxy.start(options.rendered)
  return proxy
}

/** Prepares the proxy folder. Apache is not started and has no rendered configuration yet. */
export async function createApache({ managerUrl, secret, provider, oidc = '' }: ApacheOptions) {
  const { apache, modules } = ensureApache()
  const folder = mkdtempSync(path.join(tmpdir(), 'apache-proxy-'))
  const port = await freePort()
  cpSync(files, folder, { recursive: true })
  // Apache workers run as www-data. This user must be able to read the files and write sessions.
  chmodSync(folder, 0o755)
  mkdirSync(path.join(folder, 'sessions'))
  chmodSync(path.join(folder, 'sessions'), 0o777)
  const site = (name: string, lines: string[]): void =>
    writeFileSync(path.join(folder, name), lines.join('\n') + '\n')
  site('site-main.conf', [
    `Define SVC_MODULES ${modules}`,
    `Define SVC_PROXY_DIR ${folder}`,
    'User www-data',
    'Group www-data',
    `DefaultRuntimeDir ${folder}`,
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.txt`,
    'LogLevel warn',
    `Listen 127.0.0.1:${port}`,
    'StartServers 1',
  ])
  const manager = readFileSync(path.join(files, 'site-manager.conf'), 'utf8')
  site('site-manager.conf', [manager.replace('127.0.0.1:8080', new URL(managerUrl).host)])
  site('site-secrets.conf', [
    `Define SVC_PROXY_SECRET ${secret}`,
    `OIDCClientSecret ${provider.clientSecret}`,
    'OIDCCryptoPassphrase passphrase-of-a-test',
  ])
  const given = readFileSync(path.join(files, 'site-oidc.conf'), 'utf8')
  site('site-oidc.conf', [
    given
      .replace('https://id.example.com', provider.issuer)
      .replace('/var/cache/manager-proxy', `${folder}/sessions`)
      .replace('OIDCClientID manager-proxy', `OIDCClientID ${provider.clientId}`),
    oidc,
  ])
  let stop = (): Promise<void> => Promise.resolve()
  return {
    folder,
    port,
    apply: (file: string) => applyRendered(folder, file, { APACHE: apache }),
    /** Returns the content of Apache's error log. */
    errors: (): string => readFileSync(path.join(folder, 'error.txt'), 'utf8'),
    activeConfiguration: (): string => readFileSync(path.join(folder, 'rendered.conf'), 'utf8'),
    /** Starts Apache with this configuration. */
    start: async (rendered: string): Promise<void> => {
      writeFileSync(path.join(folder, 'rendered.conf'), rendered)
      const args = ['-d', folder, '-f', path.join(folder, 'httpd.conf'), '-D', 'FOREGROUND']
      const child = spawn(apache, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      stop = async () => {
        child.kill()
        await gone
      }
      for (let tries = 0; !(await acceptsConnections(port)); tries++) {
        if (tries > 600 || child.exitCode !== null) throw new Error(`Apache did not start: ${stderr}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    close: async (): Promise<void> => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
