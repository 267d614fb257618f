// Builds the frame that tells the other sockets of a user which notifications are now read or seen.

export type MarkedRows = { ids: readonly string[] } | { all: true }

export const buildMarkFrame = (mark: 'read' | 'seen', marked: MarkedRows): string =>
  JSON.stringify({ type: `notification.${mark}`, ...marked })
