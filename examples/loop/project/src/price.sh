# price AMOUNT: with tax, in cents.
price() { echo $(($1 * 119 / 100)); }
