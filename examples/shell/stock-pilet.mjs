// A pilet of the shell: it shows the stock that the backend counted last.

/** Called once by the shell, with the functions that it offers to pilets. */
export function setup({ addSection, text, onInbox }) {
  const stock = document.createElement('p')
  stock.textContent = text('stock.waiting')
  addSection(text('stock.title')).append(stock)
  onInbox((notifications) => {
    const left = notifications.find(({ data }) => data?.left !== undefined)?.data.left
    if (left !== undefined) stock.textContent = text('stock.left', { left })
  })
}
