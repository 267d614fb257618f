// Builds the frames that sockets receive when a backend emits or publishes.

type Notification = {
  id: string
  type: string | null
  title: string | null
  severity: string
  createdAt: string
}

/** Returns the frame for a new notification in the inbox. */
export const buildNotificationFrame = ({ id, type, title, severity, createdAt }: Notification): string =>
  JSON.stringify({
    type: 'notification',
    id,
    notification_type: type,
    title,
    severity,
    created_at: createdAt,
  })

/** Returns the frame for live data of a backend. `data` is JSON text. */
export const buildLiveFrame = (live: { topic: string | null; data: string; publishedAt: string }): string =>
  `{"type":"live","topic":${JSON.stringify(live.topic)},"data":${live.data},"published_at":"${live.publishedAt}"}`
