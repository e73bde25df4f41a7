# mail ADDRESS: sends the bill.
mail() { curl -s "https://mail.example.org/send?to=$1"; }
