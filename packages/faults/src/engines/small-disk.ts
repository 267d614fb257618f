// A small in-memory file system for PostgreSQL's data that can be filled to its last byte. Mounting the file
// system requires root.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'

export type SmallDisk = { fill(): void; free(): void; unmount(): void }

const megabytes = 384

/** Mounts the file system on this folder. Throws unless the process runs as root. */
export function mountSmallDisk(dir: string): SmallDisk {
  if (process.getuid?.() !== 0)
    throw new Error('this scenario needs root to mount a file system for PostgreSQL')
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', dir])
  const ballast = `${dir}/ballast`
  return {
    fill: () => fillUp(ballast),
    free: () => rmSync(ballast, { force: true }),
    // A lazy unmount, because processes may still have files open.
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
