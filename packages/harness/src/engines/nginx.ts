// An nginx of one's own, with a configuration and files that are given, in a folder of its own.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureNginx } from './install.ts'
import { freePort } from './postgres.ts'

export type NginxOptions = {
  /** What stands in `http { … }`, and in its `server { … }`. */
  http: string
  server: string
  /** Served beside that, by name. */
  files?: Record<string, string>
}

/** Starts nginx on a free port of loopback and waits until it takes connections. */
export async function startNginx({ http, server, files = {} }: NginxOptions) {
  const folder = mkdtempSync(path.join(tmpdir(), 'nginx-'))
  const port = await freePort()
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
     events { worker_connections 512; }
     http {
       access_log off; ${paths.join(' ')}
       types { text/html html; text/javascript mjs; }
       ${http}
       server { listen 127.0.0.1:${port}; root ${folder}; ${server} }
     }`,
  )
  const args = ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', 'stderr']
  const child = spawn(ensureNginx(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let tries = 0; !(await takesConnections(port)); tries++) {
    if (tries > 600 || child.exitCode !== null) throw new Error(`nginx did not start: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `http://127.0.0.1:${port}`,
    close: async (): Promise<void> => {
      child.kill()
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** True once something listens on this port of loopback. */
export function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
