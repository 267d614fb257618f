// Verifies the audit trail with the operator's command.
import { runManagerProcess } from '@manager/harness/process.ts'

export type AuditSeen = { rows: number; checkpoints: number; problems: string[] }

/** Runs `manager audit verify`. With a service log, it also verifies the checkpoints in that log. */
export async function readAudit(env: Record<string, string>, log?: string): Promise<AuditSeen> {
  const args = ['audit', 'verify', ...(log === undefined ? [] : ['--checkpoints', log])]
  const { code, stdout, stderr } = await runManagerProcess(args, env)
  const [, rows = '0', checkpoints = '0'] =
    /audit trail \w+: (\d+) rows? in \d+ chains?, (\d+) checkpoints?/.exec(stdout) ?? []
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('BROKEN'))
  const problems =
    code === 0
      ? []
      : lines.length > 0
        ? lines
        : [`manager audit verify exited with ${code}: ${stderr.trim()}`]
  return { rows: Number(rows), checkpoints: Number(checkpoints), problems }
}
