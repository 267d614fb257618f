// The reference proxy with a sign-in, deploy/proxy/apache, in a folder of its own: a real Apache with the files as they are;
// only what an operator sets is the test's.
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureApache } from './install.ts'
import { takesConnections } from './nginx.ts'
import { applyRendered } from './nginx-proxy.ts'
import type { OidcProvider } from './oidc-provider.ts'
import { freePort } from './postgres.ts'

const files = new URL('../../../../deploy/proxy/apache/', import.meta.url).pathname

export type ApacheProxy = Awaited<ReturnType<typeof createApache>>
type ApacheOptions = {
  managerUrl: string
  secret: string
  provider: Pick<OidcProvider, 'issuer' | 'clientId' | 'clientSecret'>
  /** More directives of site-oidc.conf, such as the lifetime of sessions. */
  oidc?: string
}

/** Starts the proxy in front of this service with a rendered configuration; people sign in at the provider. */
export async function startApache(options: ApacheOptions & { rendered: string }): Promise<ApacheProxy> {
  const proxy = await createApache(options)
  await proxy.start(options.rendered)
  return proxy
}

/** The folder of such a proxy, not started and without a configuration. */
export async function createApache({ managerUrl, secret, provider, oidc = '' }: ApacheOptions) {
  const { apache, modules } = ensureApache()
  const folder = mkdtempSync(path.join(tmpdir(), 'apache-proxy-'))
  const port = await freePort()
  cpSync(files, folder, { recursive: true })
  // Its workers are nobody in particular: they read the files and write sessions.
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
    /** What Apache complained about. */
    errors: (): string => readFileSync(path.join(folder, 'error.txt'), 'utf8'),
    inService: (): string => readFileSync(path.join(folder, 'rendered.conf'), 'utf8'),
    /** Starts Apache with this configuration. */
    start: async (rendered: string): Promise<void> => {
      writeFileSync(path.join(folder, 'rendered.conf'), rendered)
      const args = ['-d', folder, '-f', path.join(folder, 'httpd.conf'), '-D', 'FOREGROUND']
      const child = spawn(apache, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      stop = async () => {
        child.kill()
        await gone
      }
      for (let tries = 0; !(await takesConnections(port)); tries++) {
        if (tries > 600 || child.exitCode !== null) throw new Error(`Apache did not start: ${said}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    close: async (): Promise<void> => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
