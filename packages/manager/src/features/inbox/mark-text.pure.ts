// The frame that the other sockets of a user get when notifications are marked.

export type Marked = { ids: readonly string[] } | { all: true }

/** Says that notifications are read or seen. */
export const markText = (mark: 'read' | 'seen', marked: Marked): string =>
  JSON.stringify({ type: `notification.${mark}`, ...marked })
