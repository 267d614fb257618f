// Kills the registered processes when stdin closes, which happens even if the harness is killed. SIGKILL also ends
// frozen replicas. An input line is `+<pid>` to register a process, or `-<pid>` after it has exited.
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
    // The process has already exited.
  }
