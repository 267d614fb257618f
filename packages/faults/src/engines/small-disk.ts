// A small file system in memory for the data of PostgreSQL, which can be filled to its last byte. Only root may mount one.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'

export type SmallDisk = { fill(): void; free(): void; unmount(): void }

const megabytes = 384

/** Mounts one on this folder. */
export function mountSmallDisk(dir: string): SmallDisk {
  if (process.getuid?.() !== 0)
    throw new Error('a full disk needs root: a file system is mounted for PostgreSQL')
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', dir])
  const ballast = `${dir}/ballast`
  return {
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast, { force: true }),
    // Whoever still has a file open in there keeps it until then.
    unmount: () => void execFileSync('umount', ['-l', dir]),
  }
}

function fillUp(file: string): void {
  const descriptor = openSync(file, 'a')
  try {
    for (let block = Buffer.alloc(1_048_576); ;) {
      try {
        writeSync(descriptor, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        if (block.length === 4_096) return
        block = Buffer.alloc(4_096)
      }
    }
  } finally {
    closeSync(descriptor)
  }
}
