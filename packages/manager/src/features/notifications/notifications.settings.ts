// How many notifications and live hints backends may send.
import { type Reader, integer, setting } from '../../config/readers.ts'

const rate: Reader<number> = integer(1, 1_000_000)

export const notificationSettings = {
  commsEmitRate: setting(rate, {
    key: 'comms.emit_rate',
    env: 'SVC_COMMS_EMIT_RATE',
    default: 10,
    doc: 'How many notifications an application may emit a second, beyond `comms.emit_burst`.',
  }),
  commsEmitBurst: setting(rate, {
    key: 'comms.emit_burst',
    env: 'SVC_COMMS_EMIT_BURST',
    default: 100,
    doc: 'How many notifications an application may emit at once.',
  }),
  commsPublishRate: setting(rate, {
    key: 'comms.publish_rate',
    env: 'SVC_COMMS_PUBLISH_RATE',
    default: 50,
    doc: 'How many live hints an application may publish a second, beyond `comms.publish_burst`.',
  }),
  commsPublishBurst: setting(rate, {
    key: 'comms.publish_burst',
    env: 'SVC_COMMS_PUBLISH_BURST',
    default: 200,
    doc: 'How many live hints an application may publish at once.',
  }),
} as const
