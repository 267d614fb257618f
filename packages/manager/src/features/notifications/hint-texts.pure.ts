// The frames that sockets get when a backend sends something.

type Notification = {
  id: string
  type: string | null
  title: string | null
  severity: string
  createdAt: string
}

/** Says that a notification is in the inbox. */
export const notificationText = ({ id, type, title, severity, createdAt }: Notification): string =>
  JSON.stringify({
    type: 'notification',
    id,
    notification_type: type,
    title,
    severity,
    created_at: createdAt,
  })

/** Live data of a backend; `data` is JSON already. */
export const liveText = (live: { topic: string | null; data: string; publishedAt: string }): string =>
  `{"type":"live","topic":${JSON.stringify(live.topic)},"data":${live.data},"published_at":"${live.publishedAt}"}`
