// Runs the reference proxy of deploy/proxy on a real nginx, in its own folder. The shipped files are unchanged, except
// for the values that an operator sets.
import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { ensureNginxJs } from './install.ts'
import { acceptsConnections } from './nginx.ts'
import { freePort } from './postgres.ts'

const deploy = new URL('../../../../deploy/proxy/', import.meta.url).pathname
export const applyScript = path.join(deploy, 'apply')

export type ReferenceProxy = Awaited<ReturnType<typeof createReferenceProxy>>

/** Runs deploy/proxy/apply, or a script with the same interface, on a folder. */
export async function applyRendered(
  folder: string,
  file: string,
  programs: Record<string, string>,
  script = applyScript,
): Promise<{ code: number; output: string }> {
  try {
    const { stdout } = await promisify(execFile)('sh', [script, '--dir', folder, file], {
      env: { PATH: process.env['PATH'], ...programs },
    })
    return { code: 0, output: stdout }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, output: stderr }
  }
}

/** Prepares the folder of a proxy for this service. nginx is not started and has no rendered configuration yet. */
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
    /** Returns the content of nginx's error log. */
    errors: (): string => readFileSync(path.join(folder, 'error.txt'), 'utf8'),
    activeConfiguration: (): string => readFileSync(path.join(folder, 'rendered.conf'), 'utf8'),
    /** Starts nginx with this configuration. */
    start: async (rendered: string): Promise<void> => {
      writeFileSync(path.join(folder, 'rendered.conf'), rendered)
      const args = ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', 'stderr']
      const child = spawn(nginx, args, { stdio: ['ignore', 'ignore', 'pipe'] })
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      for (let tries = 0; !(await acceptsConnections(port)); tries++) {
        if (tries > 600 || child.exitCode !== null) throw new Error(`nginx did not start: ${stderr}`)
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
