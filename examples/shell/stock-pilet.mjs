// A pilet of the shell: it shows what was in stock when the backend counted last.

/** Called once by the shell, with what it offers to pilets. */
export function setup({ addSection, text, onInbox }) {
  const stock = document.createElement('p')
  stock.textContent = text('stock.waiting')
  addSection(text('stock.title')).append(stock)
  onInbox((notifications) => {
    const left = notifications.find(({ data }) => data?.left !== undefined)?.data.left
    if (left !== undefined) stock.textContent = text('stock.left', { left })
  })
}
