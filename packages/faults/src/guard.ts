// Ends the processes it was told of when its standard input ends. That happens however the harness ends, also when it is
// killed; a replica that was stopped by a signal is ended as well. A line is `+<pid>` or, once it has ended, `-<pid>`.
import { createInterface } from 'node:readline'

const pids = new Set<number>()
for await (const line of createInterface(process.stdin)) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) pids.add(pid)
  else pids.delete(pid)
}
for (const pid of pids)
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
