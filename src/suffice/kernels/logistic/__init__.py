"""Loss, gradient and Hessian of logistic and softmax regression, over dense and sparse rows."""
