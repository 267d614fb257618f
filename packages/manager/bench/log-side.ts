// Writes many request log lines with the Manager's writer or pino's, and prints the CPU time per line to stderr.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { createLog, formatDroppedLinesNotice, logRequest } from '../src/platform/log/log.ts'
import { createLogOutput } from '../src/platform/log/log-output.ts'

const [lines, perTurn] = [300_000, 100]
const usesOwnWriter = process.argv[2] === 'own'
const destination = usesOwnWriter
  ? createLogOutput({ onDropped: () => undefined, formatDroppedNotice: formatDroppedLinesNotice })
  : pino.destination({ fd: 1, sync: false, minLength: 16_000, maxLength: 4 * 1_048_576 })
const log = createLog('info', destination)
const line = {
  request_id: '0190a1b2-0000-7000-8000-000000000000',
  route: '/query',
  method: 'POST',
  status: '200',
}

const cpuBefore = process.cpuUsage()
for (let turn = 0; turn < lines / perTurn; turn++) {
  for (let count = 0; count < perTurn; count++)
    if (usesOwnWriter) logRequest(log, 'info', { ...line, duration_ms: 3 }, {})
    else log.info({ ...line, duration_ms: 3 }, 'request')
  await nextTurn()
}
await new Promise<void>((resolve) => log.flush(() => resolve()))
const { user, system } = process.cpuUsage(cpuBefore)
process.stderr.write(String((user + system) / lines))
process.exit(0)
