// Runs a private nginx with the given configuration and files, in its own folder.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureNginx } from './install.ts'
import { freePort } from './postgres.ts'

export type NginxOptions = {
  /** Directives for the `http { … }` block, and for the `server { … }` block inside it. */
  http: string
  server: string
  /** Static files to serve, by name. */
  files?: Record<string, string>
}

/** Starts nginx on a free loopback port and waits until it accepts connections. */
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
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let tries = 0; !(await acceptsConnections(port)); tries++) {
    if (tries > 600 || child.exitCode !== null) throw new Error(`nginx did not start: ${stderr}`)
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

/** Returns whether a process listens on this loopback port. */
export function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
