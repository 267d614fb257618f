// The reference proxy of deploy/proxy in a folder of its own: a real nginx with the files as they are; only what an operator
// sets is the test's.
import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { ensureNginxJs } from './install.ts'
import { takesConnections } from './nginx.ts'
import { freePort } from './postgres.ts'

const deploy = new URL('../../../../deploy/proxy/', import.meta.url).pathname
export const applyScript = path.join(deploy, 'apply')

export type ReferenceProxy = Awaited<ReturnType<typeof createReferenceProxy>>

/** Runs deploy/proxy/apply, or another one like it, on a folder. */
export async function applyRendered(
  folder: string,
  file: string,
  programs: Record<string, string>,
  script = applyScript,
): Promise<{ code: number; said: string }> {
  try {
    const { stdout } = await promisify(execFile)('sh', [script, '--dir', folder, file], {
      env: { PATH: process.env['PATH'], ...programs },
    })
    return { code: 0, said: stdout }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, said: stderr }
  }
}

/** The folder of a proxy in front of this service, not started and without a configuration. */
export async function createReferenceProxy(of: { managerUrl: string; secret: string; resolver?: string }) {
  const { nginx, module } = ensureNginxJs()
  const folder = mkdtempSync(path.join(tmpdir(), 'reference-proxy-'))
  const port = await freePort()
  cpSync(path.join(deploy, 'nginx'), folder, { recursive: true })
  const site = (name: string, text: string): void => writeFileSync(path.join(folder, name), text)
  site(
    'site-main.conf',
    `load_module ${module}; daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.txt warn;`,
  )
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  site(
    'site-http.conf',
    `${temporary.join(' ')}
     upstream manager { server ${new URL(of.managerUrl).host}; keepalive 8; }
     map $host $svc_manager_url { default ${of.managerUrl}; }
     map $host $svc_proxy_secret { default "${of.secret}"; }`,
  )
  site('site-server.conf', `listen 127.0.0.1:${port} default_server;`)
  let stop = (): Promise<void> => Promise.resolve()
  return {
    folder,
    port,
    apply: (file: string, script = applyScript) => applyRendered(folder, file, { NGINX: nginx }, script),
    /** What nginx complained about. */
    errors: (): string => readFileSync(path.join(folder, 'error.txt'), 'utf8'),
    inService: (): string => readFileSync(path.join(folder, 'rendered.conf'), 'utf8'),
    /** Starts nginx with this configuration. */
    start: async (rendered: string): Promise<void> => {
      writeFileSync(path.join(folder, 'rendered.conf'), rendered)
      const args = ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', 'stderr']
      const child = spawn(nginx, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      for (let tries = 0; !(await takesConnections(port)); tries++) {
        if (tries > 600 || child.exitCode !== null) throw new Error(`nginx did not start: ${said}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      stop = async () => {
        child.kill()
        await gone
      }
    },
    close: async (): Promise<void> => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
