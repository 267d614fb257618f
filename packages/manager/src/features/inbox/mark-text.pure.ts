// Builds the frame that tells the other sockets of a user which notifications are now read or seen.

export type Marked = { ids: readonly string[] } | { all: true }

export const markText = (mark: 'read' | 'seen', marked: Marked): string =>
  JSON.stringify({ type: `notification.${mark}`, ...marked })
