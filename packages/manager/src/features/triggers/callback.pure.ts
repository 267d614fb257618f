export type CallbackRun = {
  id: string
  triggerId: string
  triggerName: string
  cronExpression: string
  runKey: string
  scheduledAt: string
  executedAt: string
}

/** Returns the body, which has the same bytes in every attempt of a run. */
export const createCallbackBody = (run: CallbackRun): Buffer =>
  Buffer.from(
    JSON.stringify({
      trigger_id: run.triggerId,
      trigger_name: run.triggerName,
      cron_expression: run.cronExpression,
      run_key: run.runKey,
      executed_at: run.executedAt,
    }),
  )

/** Returns the headers as a flat list of names and values. */
export const createCallbackHeaders = (
  run: CallbackRun,
  call: { attempt: number; timestampSeconds: number; token: string; signature: string },
): string[] => [
  'content-type',
  'application/json',
  'authorization',
  `Bearer ${call.token}`,
  'webhook-id',
  run.id,
  'webhook-timestamp',
  String(call.timestampSeconds),
  'webhook-signature',
  call.signature,
  'x-svc-scheduled-at',
  run.scheduledAt,
  'x-svc-attempt',
  String(call.attempt),
]
